import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { FieldChange, Tier, TierContent, tierDraft, TierVersion } from '@quotaplane/contracts';
import type { z } from 'zod';
import { Badge } from '../../../components/badge';
import { DiffTable } from '../../../components/diff-table';
import { Count, Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { ButtonLink } from '../../../components/links';
import { Loaded } from '../../../components/loaded';
import { isNotFound, MissingPage } from '../../../components/missing-page';
import { Empty } from '../../../components/notices';
import { Facts, Page, Panel } from '../../../components/page';
import type { FieldDifference, Json } from '../../../format/json-diff';
import { useCan } from '../../session/api/session.queries';
import { tierDraftQuery, tierQuery, tierVersionsQuery } from '../api/tier.queries';
import { DraftEditor } from '../components/draft-editor';
import { NEW_COUNTER } from '../components/new-counters';
import { PublishTier } from '../components/publish-tier';
import { TierLimits } from '../components/tier-limits';
import classes from '../components/tiers.module.css';

type TierDraft = z.output<typeof tierDraft>;

const route = getRouteApi('/console/tiers/$slug');

export function TierPage(): ReactNode {
  const { slug } = route.useParams();
  const tier = useQuery(tierQuery(slug));
  if (tier.data === undefined && isNotFound(tier.error)) {
    const next = (
      <ButtonLink to="/tiers" variant="default">
        All tiers
      </ButtonLink>
    );
    return <MissingPage kind="tier" name={slug} next={next} />;
  }
  return (
    <Loaded query={tier} heightPx={300}>
      {(read) => <TierDetail key={slug} tier={read} />}
    </Loaded>
  );
}

function TierDetail({ tier }: { readonly tier: Tier }): ReactNode {
  const canEdit = useCan('tiers:write');
  const draft = useQuery(tierDraftQuery(tier.slug));
  const versions = useQuery(tierVersionsQuery(tier.slug));
  const current = versions.data?.items.find((version) => version.number === tier.currentVersion);
  return (
    <Page
      title={tier.name}
      beside={
        tier.currentVersion === null ? <Badge tone="warn">never published</Badge> : <Badge tone="good">version {tier.currentVersion} in force</Badge>
      }
      lead={
        <Facts
          items={[
            ['Slug', <code key="slug">{tier.slug}</code>],
            [
              'Tenants',
              <Link key="tenants" to="/tenants" search={{ tier: tier.slug }}>
                <Count units={tier.tenants} unit="tenants" />
              </Link>,
            ],
            ['Weight under overload', String(tier.weight)],
            ['Support', tier.support || 'none named'],
          ]}
        />
      }
      actions={canEdit && draft.data && versions.data ? <PublishTier tier={tier} draft={draft.data.content} published={current?.content} /> : null}
    >
      <Panel title="In force" isFlush>
        <Loaded query={versions}>
          {() =>
            current ? (
              <TierLimits content={current.content} />
            ) : (
              <Empty title="Nothing published yet">Fill the draft below and publish it; until then the tier limits nobody.</Empty>
            )
          }
        </Loaded>
      </Panel>
      <Panel title="Draft" note={tier.hasDraft ? 'has changes that are not published' : 'none yet; the form starts from what is in force'}>
        <Loaded query={draft}>
          {(read) =>
            versions.data ? (
              <DraftEditor
                key={`${read.version} ${tier.currentVersion}`}
                tier={tier.slug}
                draft={startOf(tier, read, current?.content)}
                published={current?.content}
                canEdit={canEdit}
              />
            ) : null
          }
        </Loaded>
      </Panel>
      <Panel title="Versions" isFlush>
        <Loaded query={versions}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No versions">Each publish adds one, with what changed.</Empty>
            ) : (
              <div className={layout.tight}>
                <div>
                  {items.map((version) => (
                    <VersionItem key={version.number} version={version} isCurrent={version.number === tier.currentVersion} />
                  ))}
                </div>
              </div>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  );
}

/** Without a draft the editor starts from what is in force, not from nothing. */
function startOf(tier: Tier, draft: TierDraft, published: TierContent | undefined): TierDraft {
  return tier.hasDraft || published === undefined ? draft : { ...draft, content: published };
}

function VersionItem({ version, isCurrent }: { readonly version: TierVersion; readonly isCurrent: boolean }): ReactNode {
  return (
    <div className={classes.version}>
      <div className={classes.versionHead}>
        <strong>Version {version.number}</strong>
        {isCurrent ? <Badge tone="good">in force</Badge> : null}
        {Date.parse(version.effectiveAt) > Date.now() ? (
          <Badge tone="warn">
            from <Time at={version.effectiveAt} />
          </Badge>
        ) : null}
        <span className={classes.meta}>
          published by {version.publishedBy}, <Time at={version.publishedAt} />
        </span>
      </div>
      {version.number === 1 ? (
        <span className={classes.meta}>The first version.</span>
      ) : (
        <DiffTable label={`What version ${version.number} changed`} differences={version.diff.map(toDifference)} />
      )}
    </div>
  );
}

const toDifference = ({ path, before, after, newCounter }: FieldChange): FieldDifference => ({
  path: path
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
  before: before as Json | undefined,
  after: after as Json | undefined,
  ...(newCounter ? { note: NEW_COUNTER } : {}),
});
