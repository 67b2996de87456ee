export interface DemoTenant {
  readonly slug: string;
  readonly name: string;
  readonly tier: 'free' | 'pro' | 'enterprise' | 'internal';
  readonly timezone: string;
  readonly anchorDay: number;
  /** Typical units per day in earlier periods. */
  readonly unitsPerDay: number;
}

type Row = readonly [slug: string, name: string, tier: DemoTenant['tier'], timezone: string, anchorDay: number, unitsPerDay: number];

const ROWS: readonly Row[] = [
  ['acme', 'Acme Tools', 'pro', 'America/New_York', 1, 240_000],
  ['hobby', 'Hobby Weather', 'free', 'Europe/Berlin', 1, 21_000],
  ['globex', 'Globex Logistics', 'enterprise', 'America/Los_Angeles', 1, 3_450_000],
  ['aurora-maps', 'Aurora Maps', 'pro', 'Europe/Oslo', 1, 190_000],
  ['baobab-pay', 'Baobab Pay', 'enterprise', 'Africa/Nairobi', 15, 1_900_000],
  ['birch-books', 'Birch Books', 'free', 'Europe/Stockholm', 1, 9_400],
  ['bluefin', 'Bluefin Charters', 'free', 'Australia/Perth', 1, 3_100],
  ['brightside', 'Brightside Solar', 'pro', 'Australia/Sydney', 31, 88_000],
  ['canal-house', 'Canal House Hotels', 'pro', 'Europe/Amsterdam', 1, 142_000],
  ['cedar-clinic', 'Cedar Clinic', 'pro', 'Asia/Beirut', 1, 51_000],
  ['cobalt', 'Cobalt Freight', 'enterprise', 'Europe/Zurich', 1, 2_700_000],
  ['copperline', 'Copperline Rail', 'enterprise', 'America/Santiago', 1, 1_240_000],
  ['dune-data', 'Dune Data', 'pro', 'Asia/Dubai', 1, 205_000],
  ['eastgate', 'Eastgate Market', 'free', 'Asia/Shanghai', 1, 18_500],
  ['ember-labs', 'Ember Labs', 'pro', 'Asia/Jerusalem', 1, 97_000],
  ['fernhill', 'Fernhill Dairy', 'free', 'Pacific/Auckland', 1, 2_200],
  ['fjord-fin', 'Fjord Finance', 'enterprise', 'Atlantic/Reykjavik', 1, 890_000],
  ['glasswing', 'Glasswing Optics', 'pro', 'America/Mexico_City', 1, 64_000],
  ['harbour', 'Harbour Insurance', 'pro', 'Europe/London', 30, 173_000],
  ['hinterland', 'Hinterland Radio', 'free', 'America/Winnipeg', 1, 1_400],
  ['indigo-air', 'Indigo Air Cargo', 'enterprise', 'Asia/Kolkata', 1, 3_050_000],
  ['juniper', 'Juniper Health', 'pro', 'America/Chicago', 1, 121_000],
  ['kestrel', 'Kestrel Drones', 'free', 'Europe/Dublin', 1, 12_700],
  ['kite-school', 'Kite School', 'free', 'America/Fortaleza', 1, 800],
  ['lighthouse', 'Lighthouse Analytics', 'pro', 'Europe/Lisbon', 1, 260_000],
  ['lumen', 'Lumen Grid', 'enterprise', 'Europe/Paris', 1, 2_080_000],
  ['marigold', 'Marigold Florists', 'free', 'Asia/Kathmandu', 1, 1_900],
  ['monsoon', 'Monsoon Media', 'pro', 'Asia/Manila', 1, 155_000],
  ['northwind', 'Northwind Foods', 'pro', 'America/Denver', 1, 132_000],
  ['orchard', 'Orchard Schools', 'free', 'America/Halifax', 1, 7_700],
  ['pampas', 'Pampas Grain', 'pro', 'America/Argentina/Buenos_Aires', 1, 71_000],
  ['pinecone', 'Pinecone Camping', 'free', 'America/Anchorage', 1, 2_600],
  ['quartz', 'Quartz Mining', 'enterprise', 'Africa/Johannesburg', 1, 970_000],
  ['riverbank', 'Riverbank Credit', 'pro', 'Europe/Warsaw', 1, 183_000],
  ['sakura', 'Sakura Travel', 'pro', 'Asia/Tokyo', 1, 228_000],
  ['tidepool', 'Tidepool Aquaria', 'free', 'Pacific/Honolulu', 1, 4_300],
  ['tundra', 'Tundra Telemetry', 'enterprise', 'America/Toronto', 1, 1_560_000],
  ['velvet', 'Velvet Cinema', 'free', 'Europe/Rome', 1, 15_200],
  ['billing-sync', 'Billing sync', 'internal', 'UTC', 1, 420_000],
  ['status-page', 'Status page', 'internal', 'UTC', 1, 86_400],
];

export const DEMO_TENANTS: readonly DemoTenant[] = ROWS.map(([slug, name, tier, timezone, anchorDay, unitsPerDay]) =>
  ({ slug, name, tier, timezone, anchorDay, unitsPerDay }));

/** Keys whose secrets equal their names; for trying things out only. */
export const DEMO_KEYS = [
  { tenant: 'acme', name: 'demo-acme' },
  { tenant: 'hobby', name: 'demo-hobby' },
  { tenant: 'globex', name: 'demo-globex' },
] as const;
