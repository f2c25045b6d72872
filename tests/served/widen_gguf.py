"""Write the weights of a GGUF file in 32 bits, rounded as bfloat16: IN OUT.

The folder that `chaincheck model smollm2` makes holds the file's weights in bfloat16. Rounded in
the same way, llama.cpp serves exactly these.
"""

from __future__ import annotations

import sys

import gguf
import numpy as np
import numpy.typing as npt


def rounded(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Round to the nearest bfloat16, halves to even."""
    bits = np.ascontiguousarray(weights).view(np.uint32)
    nearest = bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)
    return (nearest & np.uint32(0xFFFF0000)).view(np.float32)


def main(source: str, target: str) -> None:
    """Convert one file."""
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields["general.architecture"].contents())
    ours = {"general.architecture", "general.file_type", "general.quantization_version"}
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ours:
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, inner)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for tensor in reader.tensors:
        wide = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, rounded(wide))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:3])
