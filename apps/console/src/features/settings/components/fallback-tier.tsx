import { useState, type ReactNode } from 'react';
import { Button, Select } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from '../../../api/client';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Panel } from '../../../components/page';
import { announceChange } from '../../rollout/components/announce-change';
import { useCan } from '../../session/api/session.queries';
import { tierListQuery } from '../../tiers/api/tier.queries';
import { settingsKeys, settingsQuery } from '../api/settings.queries';

/** The tier of tenants that nobody knows. */
export function FallbackTier(): ReactNode {
  const queryClient = useQueryClient();
  const settings = useQuery(settingsQuery);
  const tiers = useQuery(tierListQuery);
  const mayWrite = useCan('settings:write');
  const [chosen, setChosen] = useState<string | null>(null);
  const [isReviewing, setReviewing] = useState(false);
  const save = useMutation({
    mutationFn: ({ fallbackTier, version }: { fallbackTier: string; version: number }) =>
      call('settingsPatch', { body: { fallbackTier }, ifVersion: version }),
    onSuccess: ({ changeId }) => {
      void queryClient.invalidateQueries({ queryKey: settingsKeys.all });
      announceChange('Fallback tier changed', changeId);
      setReviewing(false);
      setChosen(null);
    },
  });
  return (
    <Panel title="Fallback tier">
      <Loaded query={settings} heightPx={60}>
        {({ fallbackTier, version }) => (
          <div className={layout.row}>
            <Select
              label="Unknown tenants and tiers are judged by"
              w={300}
              allowDeselect={false}
              disabled={!mayWrite}
              data={tiers.data?.items.map((tier) => ({ value: tier.slug, label: tier.name })) ?? [fallbackTier]}
              value={chosen ?? fallbackTier}
              onChange={setChosen}
            />
            {chosen !== null && chosen !== fallbackTier ? (
              <Button mt={22} onClick={() => setReviewing(true)}>
                Review
              </Button>
            ) : null}
            <ConfirmDialog
              isOpen={isReviewing}
              title="Change the fallback tier?"
              action="Change it"
              isRunning={save.isPending}
              problem={save.error}
              onClose={() => setReviewing(false)}
              onConfirm={() => chosen && save.mutate({ fallbackTier: chosen, version })}
            >
              Callers whose tenant or tier is unknown are judged by <strong>{chosen}</strong> instead of <strong>{fallbackTier}</strong>, on every
              node within a second.
            </ConfirmDialog>
          </div>
        )}
      </Loaded>
    </Panel>
  );
}
