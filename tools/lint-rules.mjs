/** Rules of this house that no published plugin has. */
const VAGUE_NAMES = new Set(['utils', 'util', 'common', 'shared', 'helpers', 'helper', 'misc']);

/** A folder or file says which thing it is about; a name such as `utils` collects what has no home. */
const noVagueNames = {
  meta: {
    type: 'problem',
    docs: { description: 'forbid folders and files named utils, common, shared or helpers' },
    messages: { vague: "'{{name}}' says nothing about its content; name the thing (see docs/adr and CONTRIBUTING.md)." },
    schema: [],
  },
  create(context) {
    return {
      Program(node) {
        const inRepository = context.filename.slice(context.cwd.length);
        const words = inRepository.split(/[\\/]/).map((part) => part.replace(/\.[^.]*$/, ''));
        const name = words.find((word) => VAGUE_NAMES.has(word));
        if (name) context.report({ node, messageId: 'vague', data: { name } });
      },
    };
  },
};

export default { rules: { 'no-vague-names': noVagueNames } };
