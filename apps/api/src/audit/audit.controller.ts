import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { AuditService } from './audit.service';

@Controller()
export class AuditController {
  constructor(@Inject(AuditService) private readonly audit: AuditService) {}

  @Endpoint(routes.auditList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.auditList>): Promise<RouteOutput<typeof routes.auditList>> {
    return this.audit.list(caller, input.query);
  }

  @Endpoint(routes.auditVerify)
  verify(@CurrentActor() caller: Caller): Promise<RouteOutput<typeof routes.auditVerify>> {
    return this.audit.verify(caller);
  }
}
