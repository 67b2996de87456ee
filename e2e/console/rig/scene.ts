/** What the stories are told of the platform: addresses and who may do what, nothing of its inside. */
export interface Scene {
  readonly apiUrl: string;
  /** Two echo processes on one Redis. */
  readonly echoUrls: readonly [string, string];
  /** Admin token, for what a story needs before it begins. */
  readonly token: string;
  readonly admin: { readonly email: string; readonly password: string };
  /** Cookies of a signed-in operator. */
  readonly sessionFile: string;
}

const VARIABLE = 'QP_STORY_SCENE';

/** The set-up and the stories are different processes; the environment is what they share. */
export function publishScene(scene: Scene): void {
  process.env[VARIABLE] = JSON.stringify(scene);
}

export function readScene(): Scene {
  return JSON.parse(process.env[VARIABLE] ?? '{}') as Scene;
}
