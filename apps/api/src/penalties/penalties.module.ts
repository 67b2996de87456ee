import { Module } from '@nestjs/common';
import { AutomaticPenalties } from './automatic-penalties';
import { PenaltiesController } from './penalties.controller';
import { PenaltiesService } from './penalties.service';

@Module({ controllers: [PenaltiesController], providers: [PenaltiesService, AutomaticPenalties] })
export class PenaltiesModule {}
