import type { Reflector } from '@nestjs/core';
import { COST, ENDPOINT_CLASS, SKIP_QUOTA, SUBJECTS, type CostOf, type EndpointClassMark, type SubjectMark } from './decorators';

/** What the decorators of one handler and its controller say. */
export interface HandlerRules {
  readonly isSkipped: boolean;
  readonly endpointClass: EndpointClassMark;
  /** Undefined: the class's cost. */
  readonly cost: number | CostOf | undefined;
  readonly subjects: readonly SubjectMark[];
}

/** A handler or a controller, as Nest hands them to guards. */
type Target = Parameters<Reflector['get']>[1];

const DEFAULT_CLASS: EndpointClassMark = { slug: 'default' };

/** Reads decorators once per handler; they cannot change while a service runs. */
export class HandlerRulesReader {
  private readonly rules = new WeakMap<object, WeakMap<object, HandlerRules>>();

  constructor(private readonly reflector: Reflector) {}

  of(controller: Target, handler: Target): HandlerRules {
    let ofController = this.rules.get(controller);
    if (!ofController) this.rules.set(controller, (ofController = new WeakMap()));
    let rules = ofController.get(handler);
    if (!rules) ofController.set(handler, (rules = this.read([handler, controller])));
    return rules;
  }

  private read(targets: [Target, Target]): HandlerRules {
    return {
      isSkipped: this.reflector.getAllAndOverride<boolean | undefined>(SKIP_QUOTA, targets) === true,
      endpointClass: this.reflector.getAllAndOverride<EndpointClassMark | undefined>(ENDPOINT_CLASS, targets) ?? DEFAULT_CLASS,
      cost: this.reflector.getAllAndOverride<number | CostOf | undefined>(COST, targets),
      subjects: targets.flatMap((target) => this.reflector.get<readonly SubjectMark[] | undefined>(SUBJECTS, target) ?? []),
    };
  }
}
