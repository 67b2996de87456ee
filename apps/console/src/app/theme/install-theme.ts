import { convertCssVariables, DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from '@mantine/core';
import { theme } from './theme';

/** Where Mantine keeps the operator's choice of light or dark. */
const SCHEME_KEY = 'mantine-color-scheme-value';

/**
 * Puts the theme's CSS variables into a constructed style sheet and marks the colour scheme before the first paint.
 * Mantine would write a style element for them, which a strict Content-Security-Policy refuses without a nonce.
 */
export function installTheme(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(convertCssVariables(defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme))));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  document.documentElement.dataset.mantineColorScheme = chosenScheme();
}

function chosenScheme(): 'light' | 'dark' {
  const chosen = readChoice();
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

function readChoice(): string | null {
  try {
    return window.localStorage.getItem(SCHEME_KEY);
  } catch {
    // Storage may be forbidden; the system's scheme is then right.
    return null;
  }
}
