import { Module } from '@nestjs/common';
import { OffendersModule } from '../offenders/offenders.module';
import { EventsService } from './events.service';
import { ReceiptsService } from './receipts.service';
import { RolloutController } from './rollout.controller';

@Module({ imports: [OffendersModule], controllers: [RolloutController], providers: [ReceiptsService, EventsService] })
export class RolloutModule {}
