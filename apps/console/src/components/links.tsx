import type { ComponentPropsWithRef, ReactNode } from 'react';
import { Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

type AnchorButtonProps = ButtonProps & Omit<ComponentPropsWithRef<'a'>, keyof ButtonProps>;

function AnchorButton(props: AnchorButtonProps): ReactNode {
  return <Button component="a" {...props} />;
}

/** A button that goes somewhere: a real link, so that it opens in a new tab too. */
export const ButtonLink = createLink(AnchorButton);
