import { retryUnits } from '../models/retry';
import { ANY_HEAD, type Charge, type Check } from '../store';
import { toldOnce } from './doubt';

/** The charges of a check that share a hash tag, as a check of their own. */
export interface CheckPart {
  readonly tag: string;
  readonly check: Check;
  /** Place of each of its charges in the whole check. */
  readonly places: readonly number[];
}

/** Hash tag of a key of ours: what is between the braces. */
export const tagOf = (key: string): string => key.slice(key.indexOf('{') + 1, key.indexOf('}'));

/**
 * A check in parts of one tag each, in the order they are judged: `global`, other tags, the tenant's own with its head. The head is asked of the
 * tenant's own part alone; an anonymous caller that knows it, and has no charge there, does without, so that no slot hears every address.
 */
export const partsOf = (check: Check): readonly [CheckPart, ...CheckPart[]] => {
  const { tenant, charges } = check;
  const whole: CheckPart = { tag: tenant, check, places: charges.map((_, place) => place) };
  if (charges.every((charge) => tagOf(charge.counter) === tenant)) return [whole];
  // Nobody knows the charges yet: the answer brings the head.
  if (check.knownHead === '') return [{ tag: tenant, check: { ...check, charges: [] }, places: [] }];
  const told = toldOnce(check);
  const placesByTag = new Map<string, number[]>();
  charges.forEach((charge, place) => placesByTag.set(tagOf(charge.counter), [...(placesByTag.get(tagOf(charge.counter)) ?? []), place]));
  const own = placesByTag.get(tenant) ?? (tenant === 'anonymous' ? undefined : []);
  const partOf = (tag: string, places: readonly number[]): CheckPart => ({ tag, places, check: checkOf(told, tag, places) });
  const foreign = [...placesByTag].filter(([tag]) => tag !== tenant).sort(([one], [other]) => rank(one) - rank(other)).map(([tag, places]) => partOf(tag, places));
  const [first = whole, ...rest] = own === undefined ? foreign : [...foreign, partOf(tenant, own)];
  return [first, ...rest];
};

const rank = (tag: string): number => (tag === 'global' ? 0 : 1);

const checkOf = (check: Check, tag: string, places: readonly number[]): Check => {
  const spends = retryUnits(check.charges);
  const charges = places.flatMap((place): Charge[] => {
    const charge = check.charges[place];
    if (charge === undefined) return [];
    // A use counts also where all that costs something lies in other tags.
    return charge.kind === 'retry' ? [{ ...charge, cost: spends }] : [charge];
  });
  return tag === check.tenant ? { ...check, charges } : { ...check, knownHead: ANY_HEAD, subjectFields: [], charges };
};
