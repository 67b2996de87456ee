/** Markup that is safe to paste; everything else is escaped by {@link html}. */
export class Html {
  constructor(readonly text: string) {}
}

export type Content = Html | string | number | null | undefined | readonly Content[];

/** Template of markup: whatever is put in is escaped, unless it is markup itself; lists are joined, null leaves nothing. */
export const html = (strings: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(strings.reduce((text, string, index) => `${text}${rendered(contents[index - 1])}${string}`));

function rendered(content: Content): string {
  if (content === null || content === undefined) return '';
  if (content instanceof Html) return content.text;
  if (typeof content === 'object') return content.map(rendered).join('');
  return String(content).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
