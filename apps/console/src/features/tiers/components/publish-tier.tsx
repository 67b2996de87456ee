import { useState, type ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import type { Tier, TierContent } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { IconUpload } from '@tabler/icons-react';
import { call } from '../../../api/client';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import { DiffTable } from '../../../components/diff-table';
import layout from '../../../components/layout.module.css';
import { Notice } from '../../../components/notices';
import { diffJson } from '../../../format/json-diff';
import { formatCount } from '../../../format/number';
import { fromLocalInput, OPERATOR_ZONE } from '../../../format/time';
import { auditKeys } from '../../audit/api/audit.queries';
import { announceChange } from '../../rollout/components/announce-change';
import { tenantKeys } from '../../tenants/api/tenant.queries';
import { tierKeys } from '../api/tier.queries';
import { asJson } from './draft-editor';
import { withNewCounters } from './new-counters';

interface PublishTierProps {
  readonly tier: Tier;
  readonly draft: TierContent;
  readonly published: TierContent | undefined;
}

/** Publishing changes every tenant of the tier: one review with the difference and how many it reaches. */
export function PublishTier({ tier, draft, published }: PublishTierProps): ReactNode {
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [local, setLocal] = useState('');
  const publish = useMutation({
    mutationFn: () =>
      call('tierPublish', { params: { slug: tier.slug }, body: local === '' ? {} : { effectiveAt: fromLocalInput(local, OPERATOR_ZONE) } }),
    onSuccess: (version) => {
      for (const queryKey of [tierKeys.all, tenantKeys.all, auditKeys.all]) void queryClient.invalidateQueries({ queryKey });
      announceChange(`${tier.slug} version ${version.number} published`, version.changeId);
      setOpen(false);
    },
  });
  const differences = withNewCounters(diffJson(asJson(published), asJson(draft)));
  const hasNewCounter = differences.some(({ note }) => note !== undefined);
  return (
    <>
      {tier.hasDraft ? null : <span className={layout.panelNote}>Nothing to publish: save a changed draft first</span>}
      <Button leftSection={<IconUpload size={16} />} disabled={!tier.hasDraft} onClick={() => setOpen(true)}>
        Publish
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        title={`Publish version ${(tier.currentVersion ?? 0) + 1} of ${tier.slug}`}
        action="Publish"
        isDangerous={false}
        isRunning={publish.isPending}
        problem={publish.error}
        size="lg"
        onClose={() => setOpen(false)}
        onConfirm={() => publish.mutate()}
      >
        <div className={layout.tight}>
          <Notice tone={tier.tenants > 0 ? 'warn' : 'calm'}>
            This reaches {formatCount(tier.tenants)} {tier.tenants === 1 ? 'tenant' : 'tenants'}. Overrides stay on top of it.
          </Notice>
          {hasNewCounter ? (
            <Notice tone="warn">Where a new counter is marked, every tenant’s count begins anew when the version comes into force.</Notice>
          ) : null}
          <DiffTable label="In force and to be published" differences={differences} />
          <TextInput
            type="datetime-local"
            label={`From (${OPERATOR_ZONE})`}
            description="Leave it empty to publish now"
            value={local}
            onChange={(event) => setLocal(event.currentTarget.value)}
          />
        </div>
      </ConfirmDialog>
    </>
  );
}
