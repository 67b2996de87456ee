// Loaded before anything else into a process whose wall clock shall be wrong by STORY_CLOCK_SHIFT_MS. performance.now is left alone, as on a
// machine whose clock was set wrong.
const shiftMs = Number(process.env.STORY_CLOCK_SHIFT_MS);
const RightDate = Date;

globalThis.Date = class Date extends RightDate {
  constructor(...parts) {
    if (parts.length === 0) super(RightDate.now() + shiftMs);
    else super(...parts);
  }

  static now() {
    return RightDate.now() + shiftMs;
  }
};
