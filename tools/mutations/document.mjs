/** `killed`: a test failed. `killed late`: it ran past all patience. `survived`: no test noticed. `broken`: nothing was shown, for the change is no code that runs, or the test fails without it. */
const RESULT = /^\| `([a-z0-9-]+)` \|.*\| ([a-z ]+) \|$/gm;
const DATE = /^Last tried in full on (\S+)\.$/m;

const cell = (text) => text.replaceAll('|', '\\|');

/** Results by id and the date that a rendered document tells. */
export function readDocument(text) {
  return {
    results: new Map([...text.matchAll(RESULT)].map(([, id, result]) => [id, result])),
    date: DATE.exec(text)?.[1],
  };
}

/**
 * The list of mutations that were tried, in the order of the data files.
 * @param {readonly import('./mutations.mjs').Mutation[]} mutations
 * @param {ReadonlyMap<string, string>} results by id
 * @param {string | undefined} date of the last full run
 */
export function renderDocument(mutations, results, date) {
  const files = [...new Set(mutations.map(({ file }) => file))];
  const sections = files.map((file) => [
    `## ${file}`,
    '',
    '| mutation | the code is changed to | what breaks | noticed by | result |',
    '|---|---|---|---|---|',
    ...mutations.filter((mutation) => mutation.file === file).map(({ id, what, breaks, project, spec, test }) => {
      const where = `${project}: ${spec}${test === undefined ? '' : `, \`${test}\``}`;
      return `| \`${id}\` | ${cell(what)} | ${cell(breaks)} | ${cell(where)} | ${results.get(id) ?? 'not tried'} |`;
    }),
    '',
  ].join('\n'));
  return `${HEAD}${date === undefined ? '' : `Last tried in full on ${date}.\n`}\n${sections.join('\n')}`;
}

const HEAD = `# Mutations that were tried

A test proves something only where it fails once the code is wrong. Each line below is one wrong change of the code, made in a copy of the repository,
and the tests that must fail by it. \`npm run mutations\` makes all of them, one at a time, and writes the results here; \`npm run mutations -- C041\` makes
those whose line holds that text. It exits 1 when one survives, when its text is no longer in the file exactly once, or when the tests fail without it.
The changes themselves are in \`tools/mutations/\`; \`npm test\` only checks that each still applies and is listed here.

`;
