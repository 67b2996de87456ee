import { html, type Content, type Html } from './html';

/**
 * A table; the first cell of a row is its heading. On a narrow screen each row becomes a block of labelled figures, and as a table laid out in blocks
 * loses its meaning to assistive technology, the roles say it anew.
 */
export const tableOf = (caption: string, heads: readonly string[], rows: readonly (readonly Content[])[]): Html => html`<table role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${heads.map((head) => html`<th scope="col" role="columnheader">${head}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(([first, ...cells]) => html`<tr role="row"><th scope="row" role="rowheader">${first}</th>${cells.map((cell, index) => html`<td role="cell" data-label="${heads[index + 1]}">${cell}</td>`)}</tr>`)}</tbody></table>`;

/** Text to read or copy as it is. */
export const prose = (label: string, text: string): Html => html`<pre role="region" aria-label="${label}" tabindex="0"><code>${text}</code></pre>`;
