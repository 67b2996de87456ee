import { createTheme, type MantineColorsTuple } from '@mantine/core';

const brand: MantineColorsTuple = ['#eef3ff', '#dce6ff', '#b9ccff', '#90aefc', '#6b90f5', '#4c74ea', '#3355d1', '#2945af', '#22398c', '#1b2d6d'];
const gray: MantineColorsTuple = ['#f8f9fb', '#f1f3f6', '#e6e9ef', '#d4d9e2', '#b6bfcc', '#8b95a6', '#566073', '#414a5a', '#2a313e', '#171b24'];
// White text stands on shade 6 of brand and red at 4.5:1 or more.
const red: MantineColorsTuple = ['#fdeeec', '#fad9d5', '#f3b0a9', '#ec8479', '#e55f51', '#da4638', '#c2352a', '#a52a21', '#86221b', '#691a15'];
const dark: MantineColorsTuple = ['#e2e7f0', '#bcc5d4', '#98a3b6', '#647086', '#343d4d', '#28303e', '#1c222d', '#12161f', '#0d1118', '#080a0f'];

/** The house's look: a cool neutral scale, one blue, system fonts after Inter, and figures that line up. */
export const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: { light: 6, dark: 6 },
  colors: { brand, gray, red, dark },
  black: '#171b24',
  fontFamily: '"Inter Variable", Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  lineHeights: { xs: '1.35', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.375rem', lineHeight: '1.3' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.4' },
    },
  },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '10px', xl: '14px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'sm' } },
    // Scroll locking writes a style element, which a strict Content-Security-Policy refuses; the style sheet does it instead.
    Modal: {
      defaultProps: {
        lockScroll: false,
        centered: false,
        yOffset: '6vh',
        transitionProps: { duration: 120 },
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Drawer: { defaultProps: { lockScroll: false, closeButtonProps: { 'aria-label': 'Close' } } },
    Tooltip: { defaultProps: { openDelay: 250, withArrow: true, multiline: true } },
    TextInput: { defaultProps: { size: 'sm' } },
    NumberInput: { defaultProps: { size: 'sm', thousandSeparator: ',', allowDecimal: false, clampBehavior: 'none', hideControls: true } },
  },
});
