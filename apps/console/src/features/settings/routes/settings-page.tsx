import type { ReactNode } from 'react';
import { Page } from '../../../components/page';
import { Notice } from '../../../components/notices';
import { useCan } from '../../session/api/session.queries';
import { WebhookList } from '../../webhooks/components/webhook-list';
import { FallbackTier } from '../components/fallback-tier';
import { Operators } from '../components/operators';
import { Tokens } from '../components/tokens';

export function SettingsPage(): ReactNode {
  const maySeeSettings = useCan('settings:read');
  const maySeeOperators = useCan('operators:read');
  const maySeeTokens = useCan('tokens:read');
  const maySeeWebhooks = useCan('webhooks:read');
  return (
    <Page title="Settings" lead="Platform settings, who is told of events, and who may do what.">
      {maySeeSettings ? <FallbackTier /> : null}
      {maySeeWebhooks ? <WebhookList /> : null}
      {maySeeOperators ? <Operators /> : null}
      {maySeeTokens ? <Tokens /> : null}
      {maySeeOperators || maySeeTokens ? null : <Notice>Operators and tokens are managed by admins.</Notice>}
    </Page>
  );
}
