import type { Charge } from '../store';
import { bucketModel } from './bucket';
import type { StateByKind } from './counter-state';
import type { CounterModel } from './judgement';
import { logModel } from './log';
import { queueModel } from './queue';
import { quotaModel } from './quota';
import { counterModel } from './sliding-counter';
import { retryModel } from './retry';
import { slotModel } from './slots';
import { windowModel } from './window';

/** A charge and the counters it is judged on have the same kind; a penalty is a counter beside a rate. */
export type CounterKind = keyof StateByKind;

const MODELS: Record<Charge['kind'], CounterModel> = {
  bucket: bucketModel, window: windowModel, quota: quotaModel, counter: counterModel, log: logModel, queue: queueModel, slot: slotModel, retry: retryModel,
};

export const modelOf = (kind: Charge['kind']): CounterModel => MODELS[kind];
