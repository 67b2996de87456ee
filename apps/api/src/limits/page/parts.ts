import { html, type Content, type Html } from './html';

/** A table that scrolls within itself on a narrow screen, by keyboard too. The first cell of a row is its heading. */
export const tableOf = (caption: string, heads: readonly Content[], rows: readonly (readonly Content[])[]): Html => html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...cells]) => html`<tr><th scope="row">${first}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`;

/** Text to read or copy as it is. */
export const prose = (label: string, text: string): Html => html`<pre role="region" aria-label="${label}" tabindex="0"><code>${text}</code></pre>`;
