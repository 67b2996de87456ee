import type { AdmittedCharge } from '../store';
import { modelOf } from './counter-models';
import type { CounterBook } from './judge-check';
import type { RefundChange } from './judgement';

/** The meaning of refund.lua for one charge; undefined where there is nothing to give back to. */
export const refundCharge = (book: CounterBook, charge: AdmittedCharge, nowMs: number): RefundChange | undefined =>
  modelOf(charge.kind).refund(book.read(charge.kind, charge.counter), charge, nowMs);
