"""The page's style sheet: light and dark, for screens, phones and paper."""

CSS = """
:root { color-scheme: light dark;
  --ground: #f5f6f8; --card: #fff; --text: #1c2430; --soft: #5d6878; --line: #dde2e9;
  --heap: #d9822b; --packed: #2b74c0; --parent: #8d54b8; --good: #1d7f4f; --warn: #a86500; --bad: #c0312f;
  --shade: #eef1f5; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #12161c; --card: #1b212a; --text: #e6eaf0; --soft: #9aa6b5; --line: #313a47;
  --heap: #e79a4b; --packed: #5aa0e6; --parent: #b98ade; --good: #4fc18a; --warn: #e0a53c; --bad: #f0706b;
  --shade: #242c37; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 20px 16px 48px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 12px; overflow-wrap: anywhere; }
h3 { font-size: 15px; margin: 20px 0 6px; }
p { margin: 6px 0; }
.soft, .sub { color: var(--soft); }
.sub { margin: 4px 0 0; font-size: 14px; }
a { color: var(--packed); }
nav { margin: 14px 0 0; display: flex; flex-wrap: wrap; gap: 6px 16px; font-size: 14px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; margin: 0 0 14px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 10px; margin: 20px 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 11px 14px; min-width: 0; }
.tile b { display: block; font-size: 22px; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere;
  font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; display: block; }
.tile.bad b { color: var(--bad); } .tile.warn b { color: var(--warn); } .tile.good b { color: var(--good); }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 13px; vertical-align: bottom; overflow-wrap: normal; }
th, td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
td { vertical-align: top; } tr:last-child td { border-bottom: 0; }
th.n, td.n { text-align: right; white-space: nowrap; padding-right: 14px; }
td.name { min-width: 11em; } td.text { min-width: 8em; }
code { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
code.command { display: block; background: var(--shade); border-radius: 6px; padding: 5px 8px; margin-top: 4px; white-space: pre-wrap; }
.mark { display: inline-block; border-radius: 20px; padding: 0 9px; font-size: 12.5px; font-weight: 600; border: 1px solid; white-space: nowrap; }
.error { color: var(--bad); } .warning { color: var(--warn); } .info { color: var(--soft); } .ok { color: var(--good); }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 4px 28px; }
.two > * { min-width: 0; }
.chart { margin: 8px 0 2px; }
.chart svg { display: block; width: 100%; height: 130px; background: var(--shade); border-radius: 6px; }
.chart.low svg { height: 80px; }
.scale { display: flex; justify-content: space-between; gap: 10px; color: var(--soft); font-size: 12.5px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 6px; vertical-align: -1px; }
.heap { fill: var(--heap); background: var(--heap); } .packed { fill: var(--packed); background: var(--packed); }
.parent { fill: var(--parent); background: var(--parent); }
.current { opacity: .55; }
.line { fill: none; stroke: var(--packed); stroke-width: 2; vector-effect: non-scaling-stroke; }
.area { fill: var(--packed); opacity: .18; }
.grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.bar { display: block; height: 6px; border-radius: 3px; background: var(--packed); margin-top: 5px; min-width: 2px; }
footer { margin-top: 40px; color: var(--soft); font-size: 13px; }
@media (max-width: 640px) {
  body { font-size: 16px; } main { padding: 16px 12px 40px; } .card { padding: 12px; }
  .tiles { grid-template-columns: 1fr 1fr; } .tile b { font-size: 19px; }
  .two { grid-template-columns: 1fr; }
  table.rows, table.rows tbody { display: block; } table.rows thead { display: none; }
  table.rows tr { display: flex; flex-wrap: wrap; gap: 0 14px; padding: 8px 0; border-bottom: 1px solid var(--line); }
  table.rows tr:last-child { border-bottom: 0; }
  table.rows td { display: block; border: 0; padding: 1px 0; min-width: 0; text-align: left; white-space: normal; }
  table.rows td.name { flex: 1 0 100%; font-weight: 600; }
  table.rows td.name code { font-weight: 400; }
  table.rows td[data-label]::before { content: attr(data-label) " "; color: var(--soft); font-weight: 400; font-size: 13px; }
  table.rows td:empty { display: none; }
}
@media print {
  :root { --ground: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --shade: #f2f2f2;
    --heap: #d9822b; --packed: #2b74c0; --parent: #8d54b8; --good: #1d7f4f; --warn: #8a5300; --bad: #b02020; color-scheme: light; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; } nav { display: none; }
  .card, .tile, tr, .chart { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .card { border: 0; padding: 0; } h2 { border-bottom: 1px solid var(--line); }
}
"""
