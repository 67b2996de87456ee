import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ApiRequest } from './api-request';

/** The {@link Caller} of this request; undefined on public routes. */
export const CurrentActor = createParamDecorator((_: undefined, context: ExecutionContext) => context.switchToHttp().getRequest<ApiRequest>().caller);
