import { Module } from '@nestjs/common';
import { TierVersionsController } from './tier-versions.controller';
import { TierVersionsService } from './tier-versions.service';
import { TiersController } from './tiers.controller';
import { TiersService } from './tiers.service';

@Module({ controllers: [TiersController, TierVersionsController], providers: [TiersService, TierVersionsService], exports: [TiersService, TierVersionsService] })
export class TiersModule {}
