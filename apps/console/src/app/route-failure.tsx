import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { IconMapOff } from '@tabler/icons-react';
import { ButtonLink } from '../components/links';
import layout from '../components/layout.module.css';
import { Empty, ProblemNotice } from '../components/notices';
import { Page } from '../components/page';

export function RouteFailure({ error, reset }: ErrorComponentProps): ReactNode {
  const router = useRouter();
  return (
    <main className={layout.page}>
      <ProblemNotice error={error} />
      <div className={layout.row}>
        <Button
          variant="default"
          onClick={() => {
            reset();
            void router.invalidate();
          }}
        >
          Try again
        </Button>
      </div>
    </main>
  );
}

export function NotFoundPage(): ReactNode {
  return (
    <Page title="No such page">
      <section className={layout.panel}>
        <Empty
          title="Nothing is here"
          icon={<IconMapOff size={32} stroke={1.4} aria-hidden />}
          next={
            <ButtonLink to="/" variant="default">
              Go to the overview
            </ButtonLink>
          }
        >
          The address leads nowhere in this console.
        </Empty>
      </section>
    </Page>
  );
}
