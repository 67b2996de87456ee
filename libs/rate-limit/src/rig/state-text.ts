import { MAX_EXACT } from '@quotaplane/contracts';
import type { CounterKind } from '../models/counter-models';
import type { LogEntry } from '../models/log';
import type { CounterState, StateByKind } from '../models/counter-state';

/** How a counter of a kind is stored, read as the scripts read it: anything else is untouched. For specs. */
interface StateText<State> {
  read(text: string): State | undefined;
  write(state: State): string;
}

const figure = (text: string): number | undefined => {
  if (!/^\d{1,16}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= MAX_EXACT ? value : undefined;
};

/** Figures between colons: all of them, or undefined. */
const figuresOf = (text: string, count: number): number[] | undefined => {
  const figures = text.split(':').map(figure).filter((value) => value !== undefined);
  return figures.length === count && text.split(':').length === count ? figures : undefined;
};

/** Text of a state that is `fields` between colons. */
const columns = <State extends object>(...fields: (keyof State & string)[]): StateText<State> => ({
  read: (text) => {
    const figures = figuresOf(text, fields.length);
    // The fields are those of the state, all of them numbers: the type of `fields` and the histories hold it to that.
    return figures && (Object.fromEntries(fields.map((field, at) => [field, figures[at]])) as State);
  },
  write: (state) => fields.map((field) => String(state[field])).join(':'),
});

const queueColumns = columns<StateByKind['queue']>('debt', 'timeMs', 'freeAtMs', 'rest', 'limit');
const queueText: StateText<StateByKind['queue']> = {
  ...queueColumns,
  read: (text) => {
    const state = queueColumns.read(text);
    return state === undefined || state.rest >= state.limit ? undefined : state;
  },
};

/** A list as text: this, then its elements, a line each. */
export const LIST = 'list\n';

const logText: StateText<StateByKind['log']> = {
  read: (text) => {
    if (!text.startsWith(LIST)) return undefined;
    const [head = '', ...entries] = text.slice(LIST.length).split('\n');
    const sum = figure(head);
    return sum === undefined ? undefined : { sum, entries: entries.map(entryOf) };
  },
  write: ({ sum, entries }) => LIST + [String(sum), ...entries.map(({ timeMs, units }) => `${timeMs}:${units}`)].join('\n'),
};

/** A malformed entry counts as long expired. */
const entryOf = (text: string): LogEntry => {
  const [timeMs = 0, units = 0] = figuresOf(text, 2) ?? [];
  return { timeMs, units };
};

/** Slots are a hash, which their own histories compare. */
const TEXTS: { [Kind in Exclude<CounterKind, 'slot'>]: StateText<StateByKind[Kind]> } = {
  bucket: columns('debt', 'timeMs'),
  window: columns('count', 'startMs'),
  quota: columns('count'),
  counter: columns('previous', 'current', 'startMs'),
  queue: queueText,
  log: logText,
  retry: columns('uses', 'firstMs'),
  penalty: columns('strikes', 'firstStrikeMs', 'level', 'untilMs', 'lastBanMs'),
};

const textsOf = (kind: string): StateText<CounterState> => {
  if (!(kind in TEXTS)) throw new TypeError(`counters of kind ${kind} have no text`);
  // Methods are called with states of the same kind only.
  return TEXTS[kind as keyof typeof TEXTS];
};

export const stateOf = (kind: string, text: string | undefined): CounterState | undefined => (text === undefined ? undefined : textsOf(kind).read(text));

export const textOf = (kind: string, state: CounterState): string => textsOf(kind).write(state);
