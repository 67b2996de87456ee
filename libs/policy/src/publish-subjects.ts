import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatHead, redisKeys } from '@quotaplane/contracts';
import { z } from 'zod';
import type { CompiledSubjects } from './compile-subjects';
import type { ScriptName } from './lua/scripts.generated';

export interface SubjectsPublication {
  readonly tenant: string;
  readonly revision: number;
  readonly generation: number;
  readonly subjects: CompiledSubjects;
}
type Run = (script: ScriptName, keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/** Parts of the hash that are compared as a whole: of 100,000 overrides one part is 400, about 100 KB. Changing it rewrites every hash once. */
const BUCKETS = 256;
/** Most fields written or scanned in one script, so that none holds the store for more than about a millisecond. */
const CHUNK = 500;

const openReply = z.union([z.tuple([z.literal(0)]), z.tuple([z.literal(1)]).rest(z.string().nullable())]);
const scanReply = z.tuple([z.string(), z.array(z.string())]);

/**
 * Makes `qp:{tenant}:subjects` hold these overrides and no others, writing only what differs: a digest for each of 256 parts tells where to
 * look. The digests come last, so that a publication which was interrupted is begun again where it was. A publisher that is overtaken stops; it
 * has lost nothing, for the newer one holds its change too.
 * @returns false when it was overtaken
 */
export async function publishSubjects(run: Run, { tenant, revision, generation, subjects }: SubjectsPublication): Promise<boolean> {
  const key = redisKeys.subjects(tenant);
  const own = formatHead(revision, generation);
  const [isOpen, ...held] = openReply.parse(await run('open-subjects', [redisKeys.head(tenant), key], [revision, generation, BUCKETS]));
  if (isOpen === 0) return false;
  /** @returns fields held, 0 when overtaken */
  const write = async (entries: readonly string[], digestField = '', digest = ''): Promise<number> =>
    z.int().parse(await run('write-subjects', [key], [own, digestField, digest, ...entries]));

  const changed: { readonly digestField: string; readonly digest: string }[] = [];
  let digestsHeld = 0;
  const buckets = bucketsOf(subjects);
  let heldFields = 0;
  for (const [bucket, fields] of buckets.entries()) {
    // Other work of the process goes on in between: 100,000 texts are made and hashed here.
    await nextTurn();
    const entries = fields.sort().flatMap((field) => [field, JSON.stringify(subjects.get(field))]);
    const digest = entries.length === 0 ? '' : createHash('sha1').update(JSON.stringify(entries)).digest('base64url');
    if (digest === (held[bucket] ?? '')) {
      digestsHeld += digest === '' ? 0 : 1;
      continue;
    }
    const digestField = `#${bucket + 1}`;
    changed.push({ digestField, digest });
    for (const chunk of chunksOf(entries, 2 * CHUNK)) {
      heldFields = await write(chunk, digestField);
      if (heldFields === 0) return false;
    }
  }
  if (changed.length === 0) return true;

  const wantedFields = 1 + digestsHeld + subjects.size;
  if (heldFields !== wantedFields && !(await removeOthers(run, key, subjects, write))) return false;
  for (const { digestField, digest } of changed) if (digest !== '' && (await write([], digestField, digest)) === 0) return false;
  return true;
}

/** Looks through all names held and removes those that are no longer wanted. */
async function removeOthers(run: Run, key: string, subjects: CompiledSubjects, write: (entries: readonly string[]) => Promise<number>): Promise<boolean> {
  let cursor = '0';
  do {
    const [next, names] = scanReply.parse(await run('scan-subjects', [key], [cursor, CHUNK]));
    const others = names.filter((name) => !name.startsWith('#') && !subjects.has(name));
    if (others.length > 0 && (await write(others.flatMap((name) => [name, '']))) === 0) return false;
    cursor = next;
  } while (cursor !== '0');
  return true;
}

function bucketsOf(subjects: CompiledSubjects): string[][] {
  const buckets = Array.from({ length: BUCKETS }, (): string[] => []);
  for (const field of subjects.keys()) {
    let hash = 0;
    for (let index = 0; index < field.length; index += 1) hash = (Math.imul(hash, 31) + field.charCodeAt(index)) | 0;
    buckets[(hash >>> 0) % BUCKETS]?.push(field);
  }
  return buckets;
}

/** At least one, for an empty bucket has its digest to lose. */
function chunksOf(entries: readonly string[], size: number): (readonly string[])[] {
  const count = Math.max(1, Math.ceil(entries.length / size));
  return Array.from({ length: count }, (_, index) => entries.slice(index * size, (index + 1) * size));
}
