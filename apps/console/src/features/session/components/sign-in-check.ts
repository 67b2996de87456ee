import { zodResolver } from '@hookform/resolvers/zod';
import { signIn } from '@quotaplane/contracts';

/** What was typed against the contract. In a file of its own, so that the first page stands before the schema library is there. */
export const checkSignIn = zodResolver(signIn);
