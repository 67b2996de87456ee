import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { TokensService } from './tokens.service';

@Controller()
export class TokensController {
  constructor(@Inject(TokensService) private readonly tokens: TokensService) {}

  @Endpoint(routes.tokensList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tokensList>): Promise<RouteOutput<typeof routes.tokensList>> {
    return this.tokens.list(caller, input.query);
  }

  @Endpoint(routes.tokensCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tokensCreate>): Promise<RouteOutput<typeof routes.tokensCreate>> {
    return this.tokens.create(caller, input.body);
  }

  @Endpoint(routes.tokensDelete)
  revoke(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.tokensDelete>): Promise<RouteOutput<typeof routes.tokensDelete>> {
    return this.tokens.revoke(caller, input.params.id, input.ifVersion);
  }
}
