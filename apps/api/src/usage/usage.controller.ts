import { Controller, Inject, StreamableFile } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { DegradedUsageService } from './degraded-usage.service';
import { JournalsService } from './journals.service';
import { SeriesService } from './series.service';
import { exportBody, UsageService } from './usage.service';

@Controller()
export class UsageController {
  constructor(
    @Inject(UsageService) private readonly usage: UsageService,
    @Inject(SeriesService) private readonly series: SeriesService,
    @Inject(DegradedUsageService) private readonly degraded: DegradedUsageService,
    @Inject(JournalsService) private readonly journals: JournalsService,
  ) {}

  @Endpoint(routes.usageList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.usageList>) {
    return this.usage.list(caller, input);
  }

  @Endpoint(routes.usageDegradedList)
  listDegraded(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.usageDegradedList>) {
    return this.degraded.list(caller, input);
  }

  @Endpoint(routes.journalsPost)
  postJournal(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.journalsPost>) {
    return this.journals.post(caller, input);
  }

  @Endpoint(routes.usageExport)
  export(@CurrentActor() caller: Caller, @Input() { query }: RouteInput<typeof routes.usageExport>): StreamableFile {
    return new StreamableFile(exportBody(this.usage.stream(caller, query.period), query.format), {
      type: query.format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
      disposition: `attachment; filename="usage-${query.period}.${query.format}"`,
    });
  }

  @Endpoint(routes.tenantSeriesGet)
  tenantSeries(@Input() input: RouteInput<typeof routes.tenantSeriesGet>) {
    return this.series.get(input);
  }
}
