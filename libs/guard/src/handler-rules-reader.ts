import type { Reflector } from '@nestjs/core';
import { COST, ENDPOINT_CLASS, HOLDS_SLOT, SKIP_QUOTA, SUBJECTS, type CostOf, type EndpointClassMark, type SubjectMark } from './decorators';
import { PLAIN_RULES, type HandlerRules } from './handler-rules';

/** Where Nest keeps the guards that a handler or controller names. */
const GUARDS = '__guards__';

/** Rules of a handler as Nest knows it. */
export interface NestHandlerRules extends HandlerRules {
  /** Guards named in `@UseGuards`, classes or instances: the handler's own first, then its controller's. */
  readonly namedGuards: readonly unknown[];
}

/** A handler or a controller, as Nest hands them to guards. */
type Target = Parameters<Reflector['get']>[1];

/** Reads decorators once per handler; they cannot change while a service runs. */
export class HandlerRulesReader {
  private readonly rules = new WeakMap<object, WeakMap<object, NestHandlerRules>>();

  constructor(private readonly reflector: Reflector) {}

  of(controller: Target, handler: Target): NestHandlerRules {
    let ofController = this.rules.get(controller);
    if (!ofController) this.rules.set(controller, (ofController = new WeakMap()));
    let rules = ofController.get(handler);
    if (!rules) ofController.set(handler, (rules = this.read([handler, controller])));
    return rules;
  }

  private read(targets: [Target, Target]): NestHandlerRules {
    return {
      isSkipped: this.reflector.getAllAndOverride<boolean | undefined>(SKIP_QUOTA, targets) === true,
      endpointClass: this.reflector.getAllAndOverride<EndpointClassMark | undefined>(ENDPOINT_CLASS, targets) ?? PLAIN_RULES.endpointClass,
      cost: this.reflector.getAllAndOverride<number | CostOf | undefined>(COST, targets),
      subjects: targets.flatMap((target) => this.reflector.get<readonly SubjectMark[] | undefined>(SUBJECTS, target) ?? []),
      holdsSlot: this.reflector.getAllAndOverride<boolean | undefined>(HOLDS_SLOT, targets) === true,
      namedGuards: targets.flatMap((target) => this.reflector.get<readonly unknown[] | undefined>(GUARDS, target) ?? []),
    };
  }
}
