// The rows as Prisma types them, for rooms that may not import the generated client themselves.
export { Prisma } from './generated/client';
export type {
  ApiKey as ApiKeyRow,
  ApiToken as ApiTokenRow,
  AuditEntry as AuditEntryRow,
  Change as ChangeRow,
  EndpointClass as EndpointClassRow,
  Event as EventRow,
  ListEntry as ListEntryRow,
  Operator as OperatorRow,
  Override as OverrideRow,
  Session as SessionRow,
  Settings as SettingsRow,
  Tenant as TenantRow,
  Tier as TierRow,
  TierAssignment as TierAssignmentRow,
  TierVersion as TierVersionRow,
  TopUp as TopUpRow,
  Webhook as WebhookRow,
  WebhookDelivery as WebhookDeliveryRow,
} from './generated/client';
