import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { ApiRequest } from './api-request';

/** The validated `RouteInput` of this endpoint: params, query, body and ifVersion. */
export const Input = createParamDecorator((_: undefined, context: ExecutionContext) => context.switchToHttp().getRequest<ApiRequest>().input);
