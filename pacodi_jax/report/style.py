"""The report's look, as one style sheet: light and dark, phone and desktop, no network."""

CSS = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--card:#f6f8fa;
--line:#d0d7de;--real:#0072b2;--synthetic:#c44e00;--third:#5b6770;--focus:#0550ae;--bar:#8c95a0}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--paper:#0d1117;
--card:#161b22;--line:#30363d;--real:#56b4e9;--synthetic:#f0a830;--third:#a7b1bb;--focus:#79c0ff;
--bar:#6e7681}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main,header,footer{max-width:72rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .25rem}
h2{font-size:1.25rem;margin:2.2rem 0 .5rem}
p{max-width:46rem}
a{color:var(--focus)}
.meta{color:var(--soft);margin:0 0 1rem}
.verdict{background:var(--card);border:1px solid var(--line);border-left:.4rem solid var(--real);
border-radius:.4rem;padding:.9rem 1.1rem}
.verdict p{margin:.35rem 0}.verdict p:first-of-type{font-size:1.15rem;font-weight:600}
.warn{border-left-color:var(--synthetic)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:.4rem}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.6rem .8rem;color:var(--soft)}
caption span{position:sticky;left:.8rem;display:inline-block;
max-width:min(60rem,calc(100vw - 4rem))}
th,td{padding:.4rem .7rem;text-align:right;border-top:1px solid var(--line);white-space:nowrap}
thead th{background:var(--card);vertical-align:bottom}
th[scope=row],td.word,th.left{text-align:left}
th[scope=row]{font-weight:600;position:sticky;left:0;background:var(--paper);max-width:19rem;
white-space:normal}
th code{display:block;font-weight:400;font-size:.78rem;color:var(--soft);overflow-wrap:anywhere}
.pm{color:var(--soft);font-size:.82em}
tr.group th{background:var(--card);color:var(--soft);font-weight:600;position:static;max-width:none}
.track{display:inline-block;position:relative;width:6rem;height:.7rem;border:1px solid var(--bar);
border-radius:.35rem;vertical-align:middle;overflow:hidden}
.track i{position:absolute;left:0;top:0;bottom:0;background:var(--synthetic)}
.share{display:inline-block;min-width:3.4em}
.grid{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr))}
figure{margin:0;border:1px solid var(--line);border-radius:.4rem;padding:.6rem;min-width:0}
figure svg{width:100%;height:auto;display:block}
figcaption{color:var(--soft);font-size:.88rem;margin-top:.3rem}
.key{display:flex;gap:1.2rem;flex-wrap:wrap;margin:.4rem 0;color:var(--soft)}
.key b{display:inline-block;width:1.8rem;border-top:3px solid var(--real);vertical-align:middle}
.key b.s{border-top:3px dashed var(--synthetic)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:.5rem}
footer{color:var(--soft);margin:2.5rem auto 2rem;font-size:.88rem}
@media(max-width:40rem){dl{grid-template-columns:1fr}dt{margin-top:.4rem}
th[scope=row]{max-width:8.5rem}th,td{padding:.4rem .5rem}}
@media print{.scroll{overflow:visible}}
"""
