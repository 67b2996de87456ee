import { z } from 'zod';
import { exactInteger, slug } from '../numbers';
import { failMode, refundOutcome } from '../policy';
import { changed, pageOf, versioned } from './page';

const fields = {
  slug,
  cost: exactInteger,
  meter: slug,
  failMode,
  refundOn: z.array(refundOutcome).max(3),
  retry: z.strictObject({
    cost: exactInteger,
    windowMs: z.int().min(1).max(86_400_000),
    max: z.int().min(1).max(100).default(3),
  }).nullable(),
  description: z.string().trim().max(500),
};
export const endpointClassCreate = z.strictObject({
  slug: fields.slug,
  cost: fields.cost.default(1),
  meter: fields.meter.default('requests'),
  failMode: fields.failMode.default('local'),
  refundOn: fields.refundOn.default([]),
  retry: fields.retry.default(null),
  description: fields.description.default(''),
});
export const endpointClassPatch = z.strictObject({
  cost: fields.cost, meter: fields.meter, failMode: fields.failMode, refundOn: fields.refundOn, retry: fields.retry, description: fields.description,
}).partial();
export const endpointClassSchema = z.strictObject({ ...fields, ...versioned });
export type EndpointClass = z.infer<typeof endpointClassSchema>;
export const endpointClassChanged = endpointClassSchema.extend(changed);
export const endpointClassPage = pageOf(endpointClassSchema);
