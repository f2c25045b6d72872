"""How a report page looks: on a screen, light or dark, wide or narrow, and on paper.

Color never says anything that a word or a shape does not say too. Text on its ground has a
contrast of at least 4.5 to 1 in either scheme.
"""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root {
  color-scheme: light dark;
  --ground: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --panel: #f6f8fa;
  --link: #0550ae; --good: #116329; --bad: #a40e26; --open: #7d4e00;
  --judge: #cfe6ff; --context: #d2f4d9; --procedure: #ffecb8; --many: #f3d3ff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1318; --text: #e6edf3; --soft: #a3adb8; --line: #3a434d; --panel: #171d24;
    --link: #79b8ff; --good: #6fdd8b; --bad: #ff9a94; --open: #f0c060;
    --judge: #143f6b; --context: #174d28; --procedure: #5a4300; --many: #54256b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--ground);
  color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
h3 small, .soft { color: var(--soft); font-weight: normal; }
a { color: var(--link); }
a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
code { font-family: ui-monospace, monospace; font-size: .92em; }
.badge {
  display: inline-block; padding: .05rem .5rem; border: 2px solid currentColor;
  border-radius: .4rem; font-weight: 600; font-size: .9rem; white-space: nowrap;
}
.SATISFIED { color: var(--good); } .VIOLATED { color: var(--bad); } .UNKNOWN { color: var(--open); }
.NOT_SPECIFIED, .NOT_EVALUATED { color: var(--soft); }
.verdict { font-size: 1.1rem; }
.notice { border-left: 4px solid var(--open); background: var(--panel); padding: .5rem .8rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; }
tr { border-bottom: 1px solid var(--line); }
tbody th { font-weight: 600; min-width: 9rem; }
.keep, thead th { white-space: nowrap; }
:target { background: var(--panel); outline: 2px solid var(--link); }
.text {
  white-space: pre-wrap; border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem;
  background: var(--panel); unicode-bidi: isolate;
}
.whole { margin: .2rem 0 .4rem; }
mark { color: inherit; border-bottom: 2px solid currentColor; padding: .05em 0; }
mark.judge { background: var(--judge); } mark.context { background: var(--context); }
mark.procedure { background: var(--procedure); border-bottom-style: dashed; }
mark.many { background: var(--many); border-bottom-style: double; border-bottom-width: 4px; }
sup { line-height: 0; font-size: .72em; padding: 0 .12em; user-select: none; }
q { quotes: "\\201c" "\\201d"; }
q, bdi { unicode-bidi: isolate; }
.hidden { font: .75em ui-monospace, monospace; border: 1px dotted currentColor; }
.unseen {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
ul { padding-left: 1.2rem; margin: .4rem 0; }
dt { font-weight: 600; }
dd { margin: 0 0 .4rem 1.2rem; }
@media (max-width: 40rem) {
  table, tbody, tr, tbody th, td { display: block; padding-right: 0; min-width: 0; }
  thead {
    position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  }
  tr { padding: .5rem 0; }
  tbody th, td { padding: .1rem 0; }
  td::before { content: attr(data-label) ": "; color: var(--soft); }
}
@media print {
  :root {
    --ground: #fff; --text: #000; --soft: #333; --line: #999; --panel: #fff; --link: #000;
    --good: #000; --bad: #000; --open: #000;
    --judge: #fff; --context: #fff; --procedure: #fff; --many: #fff;
  }
  body { max-width: none; padding: 0; }
  section, tr { break-inside: avoid; }
}
"""
