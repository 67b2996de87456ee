import type { ReactNode } from 'react';
import { Page } from '../../../components/page';
import { Notice } from '../../../components/notices';
import { useCan } from '../../session/api/session.queries';
import { FallbackTier } from '../components/fallback-tier';
import { Operators } from '../components/operators';
import { Tokens } from '../components/tokens';

export function SettingsPage(): ReactNode {
  const maySeeSettings = useCan('settings:read');
  const maySeeOperators = useCan('operators:read');
  const maySeeTokens = useCan('tokens:read');
  return (
    <Page title="Settings" lead="Platform settings, and who may do what.">
      {maySeeSettings ? <FallbackTier /> : null}
      {maySeeOperators ? <Operators /> : null}
      {maySeeTokens ? <Tokens /> : null}
      {maySeeOperators || maySeeTokens ? null : <Notice>Operators and tokens are managed by admins.</Notice>}
    </Page>
  );
}
