import type { ReactNode } from 'react';
import { IconEye } from '@tabler/icons-react';
import { Badge } from '../../../components/badge';

/** A limit that is only watched: it denies nobody. */
export function ShadowBadge(): ReactNode {
  return (
    <Badge tone="brand" icon={<IconEye size={12} aria-hidden />} title="Counted beside the others; denies nobody">
      shadow, denies nobody
    </Badge>
  );
}
