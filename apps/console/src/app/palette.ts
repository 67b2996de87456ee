import { createSpotlight } from '@mantine/spotlight';

/** State of the palette, and what opens and closes it from anywhere; apart from what draws it, which comes later. */
export const [paletteStore, palette] = createSpotlight();
