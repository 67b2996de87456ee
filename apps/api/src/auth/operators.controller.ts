import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { OperatorsService } from './operators.service';

@Controller()
export class OperatorsController {
  constructor(@Inject(OperatorsService) private readonly operators: OperatorsService) {}

  @Endpoint(routes.operatorsList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.operatorsList>): Promise<RouteOutput<typeof routes.operatorsList>> {
    return this.operators.list(caller, input.query);
  }

  @Endpoint(routes.operatorsCreate)
  create(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.operatorsCreate>): Promise<RouteOutput<typeof routes.operatorsCreate>> {
    return this.operators.create(caller, input.body);
  }

  @Endpoint(routes.operatorsGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.operatorsGet>): Promise<RouteOutput<typeof routes.operatorsGet>> {
    return this.operators.get(caller, input.params.id);
  }

  @Endpoint(routes.operatorsPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.operatorsPatch>): Promise<RouteOutput<typeof routes.operatorsPatch>> {
    return this.operators.patch(caller, input.params.id, input.ifVersion, input.body);
  }
}
