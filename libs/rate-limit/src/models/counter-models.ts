import type { Charge } from '../store';
import { bucketModel } from './bucket';
import type { StateByKind } from './counter-state';
import type { CounterModel } from './judgement';
import { logModel } from './log';
import { queueModel } from './queue';
import { quotaModel } from './quota';
import { counterModel } from './sliding-counter';
import { slotModel } from './slots';
import { windowModel } from './window';

/** A kind of charge that has a model: a charge and the counters it is judged on have the same. */
export type CounterKind = keyof StateByKind;

const MODELS: Record<CounterKind, CounterModel> = {
  bucket: bucketModel, window: windowModel, quota: quotaModel, counter: counterModel, log: logModel, queue: queueModel, slot: slotModel,
};

const isModelled = (kind: Charge['kind']): kind is CounterKind => kind in MODELS;

/** @throws {TypeError} for a kind that no model holds yet, so that nothing passes unjudged */
export const modelOf = (kind: Charge['kind']): CounterModel => {
  if (!isModelled(kind)) throw new TypeError(`charges of kind ${kind} have no model`);
  return MODELS[kind];
};
