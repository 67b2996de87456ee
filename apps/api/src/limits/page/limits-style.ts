/** A file of its own: the page's policy allows no inline style. Contrast is AA in both themes. */
export const LIMITS_STYLE = `:root{color-scheme:light dark;--ink:#17202b;--soft:#55606e;--line:#dce1e8;--ground:#fff;--raised:#f6f8fa;--accent:#0b5cad;--accent-soft:#e8f1fb}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#a3adba;--line:#2f3845;--ground:#12171e;--raised:#1a212b;--accent:#7db8f5;--accent-soft:#1b2c40}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;-webkit-text-size-adjust:100%}
header,main{max-width:68rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:3rem}
main{padding-bottom:5rem}
h1{font-size:clamp(1.9rem,5vw,2.6rem);line-height:1.15;letter-spacing:-.02em;margin:0 0 .75rem}
h2{font-size:1.5rem;line-height:1.25;letter-spacing:-.01em;margin:3.5rem 0 .75rem}
h3{font-size:1.05rem;line-height:1.4;margin:2rem 0 .5rem}
h4{font-size:1rem;margin:1.5rem 0 .25rem}
p,.advice{max-width:44rem}
p{margin:.5rem 0 1rem}
.lead{font-size:1.125rem;color:var(--soft)}
a{color:var(--accent);text-underline-offset:.18em}
a:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:1.25rem;top:-4rem;padding:.5rem .75rem;background:var(--ground);border-radius:6px}
.skip:focus{top:.75rem}
nav ul{display:flex;flex-wrap:wrap;gap:.5rem;list-style:none;margin:1.5rem 0 0;padding:0}
nav a{display:block;padding:.3rem .75rem;border:1px solid var(--line);border-radius:999px;color:var(--ink);text-decoration:none;font-size:.9rem}
nav a:hover{border-color:var(--accent);color:var(--accent)}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font-size:.9em;overflow-wrap:anywhere}
h3 code,h4 code{font-size:1em;background:var(--accent-soft);padding:.15rem .45rem;border-radius:5px}
:target{scroll-margin-top:1rem}
h3:target code,h4:target code{outline:2px solid var(--accent)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15.5rem),1fr));gap:1rem;margin:1.25rem 0 0}
.card{border:1px solid var(--line);border-radius:12px;background:var(--raised);padding:1.25rem}
.card h3{margin:0;font-size:1.15rem}
.audience{margin:.1rem 0 .9rem;color:var(--soft);font-size:.9rem}
.card ul{list-style:none;margin:0;padding:0}
.card li{padding:.6rem 0;border-top:1px solid var(--line);line-height:1.4;font-variant-numeric:tabular-nums}
.card li:last-child{padding-bottom:0}
.whom{display:block;color:var(--soft);font-size:.85rem}
.whom a{white-space:nowrap}
.limit{margin-top:2rem}
.limit,.terms{overflow-wrap:anywhere}
table{border-collapse:separate;border-spacing:0;width:100%;border:1px solid var(--line);border-radius:10px;font-size:.95rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;vertical-align:top;padding:.6rem .9rem;border-top:1px solid var(--line)}
thead th{border-top:0;background:var(--raised);color:var(--soft);font-size:.8rem;font-weight:600;white-space:nowrap}
thead th:first-child{border-top-left-radius:9px}thead th:last-child{border-top-right-radius:9px}
tbody th{font-weight:600}
td a{white-space:nowrap}
.terms{margin:1rem 0 0;border:1px solid var(--line);border-radius:10px}
.terms div{display:grid;grid-template-columns:15rem 1fr;gap:.15rem 1rem;padding:.7rem .9rem;border-top:1px solid var(--line)}
.terms div:first-child{border-top:0}
dt{font-weight:600}
dd{margin:0}
.note{color:var(--soft)}
.advice{padding-left:1.2rem;margin:.5rem 0 1rem}
.advice li{margin:.3rem 0}
.empty{color:var(--soft)}
pre{margin:.75rem 0 0;padding:1rem 1.1rem;overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--raised);font-size:.83rem;line-height:1.55}
pre code{font-size:1em;overflow-wrap:normal}
@media (max-width:40rem){header{padding-top:2rem}h2{margin-top:2.75rem}.terms div{grid-template-columns:1fr}
table,tbody,tr,tbody th,td{display:block}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tbody tr{padding:.6rem .9rem;border-top:1px solid var(--line)}
tbody tr:first-child{border-top:0}
tbody th,td{padding:.1rem 0;border:0}
td{display:grid;grid-template-columns:minmax(6.5rem,2fr) 3fr;gap:.75rem;align-items:baseline}
td::before{content:attr(data-label);content:attr(data-label) / "";color:var(--soft);font-size:.85rem}}
@media print{nav,.skip{display:none}pre{overflow:visible;white-space:pre-wrap}}
`;
