import { Controller, Inject } from '@nestjs/common';
import { routes, type RouteInput, type RouteOutput } from '@quotaplane/contracts';
import type { Caller } from '../http/caller';
import { CurrentActor } from '../http/current-actor.decorator';
import { Endpoint } from '../http/endpoint.decorator';
import { Input } from '../http/input.decorator';
import { SettingsService } from './settings.service';

@Controller()
export class SettingsController {
  constructor(@Inject(SettingsService) private readonly settings: SettingsService) {}

  @Endpoint(routes.settingsGet)
  get(@CurrentActor() caller: Caller): Promise<RouteOutput<typeof routes.settingsGet>> {
    return this.settings.get(caller);
  }

  @Endpoint(routes.settingsPatch)
  patch(@CurrentActor() caller: Caller, @Input() input: RouteInput<typeof routes.settingsPatch>): Promise<RouteOutput<typeof routes.settingsPatch>> {
    return this.settings.patch(caller, input.ifVersion, input.body);
  }
}
