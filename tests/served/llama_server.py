"""Serve a GGUF file with llama.cpp, from the package xllamacpp: FILE PORT.

What it caches is kept in 32 bits, and flash attention is off, so that scores can be held against
those of the same weights elsewhere.
"""

from __future__ import annotations

import sys
import threading

import xllamacpp  # type: ignore[import-not-found]

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.model_alias = {"smollm2"}
parameters.server_base = "127.0.0.1"
parameters.port = int(sys.argv[2])
parameters.n_ctx = 8192
parameters.n_parallel = 2
parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(parameters)
print(f"{server.listening_address} (Ctrl-C to end)", flush=True)
threading.Event().wait()
