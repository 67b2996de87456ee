/**
 * Loads a part of the console together with the styles that the first page did without.
 * Fields come first: a component must follow what it is made of.
 */
export async function withStyles<Part>(load: () => Promise<Part>): Promise<Part> {
  const [, , part] = await Promise.all([import('./fields'), import('./late'), load()]);
  return part;
}

/** Loads a part that needs the styles of fields and no others. */
export async function withFieldStyles<Part>(load: () => Promise<Part>): Promise<Part> {
  const [, part] = await Promise.all([import('./fields'), load()]);
  return part;
}
