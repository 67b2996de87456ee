import { Controller, Inject, type StreamableFile } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { DegradedUsageService } from './degraded-usage.service';
import { JournalsService } from './journals.service';
import { exportFile } from './row-stream';
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
  async export(@CurrentActor() caller: Caller, @Input() { query }: RouteInput<typeof routes.usageExport>): Promise<StreamableFile> {
    return exportFile(exportBody(await this.usage.stream(caller, query), query.format), query.format, `usage-${query.period}`);
  }

  @Endpoint(routes.tenantSeriesGet)
  tenantSeries(@Input() input: RouteInput<typeof routes.tenantSeriesGet>) {
    return this.series.get(input);
  }
}
