import { Controller, Inject, type StreamableFile } from '@nestjs/common';
import { routes, type RouteInput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { exportFile } from '../usage/row-stream';
import { StatementExport, statementBody } from './statement-export';
import { StatementsService } from './statements.service';

@Controller()
export class StatementsController {
  constructor(@Inject(StatementsService) private readonly statements: StatementsService, @Inject(StatementExport) private readonly exports: StatementExport) {}

  @Endpoint(routes.statementsList)
  list(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.statementsList>) {
    return this.statements.list(caller, input);
  }

  // Before the route with an id, which would take their last segment for one.
  @Endpoint(routes.statementsVerify)
  verify(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.statementsVerify>) {
    return this.statements.verify(caller, input);
  }

  @Endpoint(routes.statementsExport)
  async export(@CurrentActor() caller: Caller, @Input() { query }: RouteInput<typeof routes.statementsExport>): Promise<StreamableFile> {
    return exportFile(statementBody(await this.exports.stream(caller, query), query.format), query.format, `statements-${query.period}`);
  }

  @Endpoint(routes.statementsGet)
  get(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.statementsGet>) {
    return this.statements.get(caller, input);
  }

  @Endpoint(routes.periodsClose)
  close(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.periodsClose>) {
    return this.statements.close(caller, input);
  }
}
