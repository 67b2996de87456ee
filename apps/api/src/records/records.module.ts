import { Module } from '@nestjs/common';
import { RecordsController } from './records.controller';
import { RecordsService } from './records.service';

/** Usage that comes over REST. */
@Module({ controllers: [RecordsController], providers: [RecordsService] })
export class RecordsModule {}
