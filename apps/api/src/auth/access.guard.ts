import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { DomainError, type RouteContract } from '@quotaplane/contracts';
import type { ApiRequest } from '../http/api-request';
import { OPEN_ROUTE, ROUTE_CONTRACT } from '../http/endpoint.decorator';
import { validateInput } from '../http/input-validation';
import { Authenticator } from './authenticator';
import { applyBinding } from './binding';

/** The one door: who asks, may they, is the input valid, and is it within their binding; in this order. Closed to handlers that have no contract. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(Authenticator) private readonly authenticator: Authenticator,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.get<boolean | undefined>(OPEN_ROUTE, context.getHandler())) return true;
    const contract = this.reflector.get<RouteContract | undefined>(ROUTE_CONTRACT, context.getHandler());
    if (!contract) throw new DomainError('forbidden', 'This route is not part of the contract');
    const request = context.switchToHttp().getRequest<ApiRequest>();
    if (contract.access === 'public') {
      request.input = validateInput(contract, request);
      return true;
    }
    const caller = await this.authenticator.authenticate(request);
    if (contract.access !== 'signed-in' && !caller.rights.has(contract.access)) {
      throw new DomainError('forbidden', `This needs the right ${contract.access}`);
    }
    request.caller = caller;
    request.input = applyBinding(contract, validateInput(contract, request), caller);
    return true;
  }
}
