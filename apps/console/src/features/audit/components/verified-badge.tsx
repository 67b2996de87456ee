import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconShieldCheck, IconShieldX } from '@tabler/icons-react';
import { Badge } from '../../../components/badge';
import { formatCount } from '../../../format/number';
import { auditVerificationQuery } from '../api/audit.queries';
import { Tooltip } from '../../../components/tooltip';

/** Whether every hash chain of the log still holds. */
export function VerifiedBadge(): ReactNode {
  const { data, error } = useQuery(auditVerificationQuery);
  if (error) return <Badge tone="warn">chain not checked</Badge>;
  if (!data) return <Badge>checking the chain…</Badge>;
  if (data.verified) {
    return (
      <Tooltip
        label={`Each entry carries the hash of the one before. All ${formatCount(data.entries)} entries in ${formatCount(data.chains)} chains were recomputed and agree.`}
      >
        <span>
          <Badge tone="good" icon={<IconShieldCheck size={13} aria-hidden />}>
            chain verified
          </Badge>
        </span>
      </Tooltip>
    );
  }
  const fault = data.faults[0];
  return (
    <Badge tone="bad" icon={<IconShieldX size={13} aria-hidden />}>
      chain broken{fault ? ` at ${fault.chain} #${fault.seq}` : ''}
    </Badge>
  );
}
