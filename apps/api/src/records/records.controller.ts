import { Controller, Headers, Inject } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../http/caller';
import { contentModeOf } from '../http/cloud-events';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { RecordsService } from './records.service';

@Controller()
export class RecordsController {
  constructor(@Inject(RecordsService) private readonly records: RecordsService) {}

  @Endpoint(routes.usageRecordsPost)
  post(@CurrentActor() caller: Caller, @Input() { body }: RouteInput<typeof routes.usageRecordsPost>, @Headers() headers: IncomingHttpHeaders) {
    return this.records.post(caller, body, contentModeOf(headers));
  }
}
