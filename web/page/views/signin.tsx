/* What is shown without a sign-in. */
import { useState } from "preact/hooks";
import { signInByToken, signInNote, takesTokens } from "../core/api";
import { useSignal } from "../core/signal";
import { T } from "../core/text";
import { Command, Message } from "./parts";

/* The field keeps the token as long as it takes to send it. */
function TokenForm() {
    const [busy, setBusy] = useState(false);
    const submit = (event: Event) => {
        event.preventDefault();
        const field = (event.currentTarget as HTMLFormElement).elements.namedItem("token") as HTMLInputElement;
        const token = field.value.trim();
        field.value = "";
        if (!token) return;
        setBusy(true);
        signInNote.value = "";
        signInByToken(token).catch((error: Error) => {
            signInNote.value = error.message;
            setBusy(false);
        });
    };
    return (
        <form class="token" onSubmit={submit}>
            <label for="token">{T.signInToken}</label>
            <input id="token" name="token" type="password" autocomplete="off" spellcheck={false} aria-describedby="token-hint" required />
            <button type="submit" disabled={busy}>{T.signInButton}</button>
            <p id="token-hint" class="faint">{T.signInTokenHint}</p>
        </form>
    );
}

export function SignInPage() {
    const note = useSignal(signInNote);
    return (
        <main class="signin" id="content">
            <h1>{T.signInTitle}</h1>
            {note && <p class="note bad" role="alert"><Message text={note} /></p>}
            <p>{T.signInHow}</p>
            <Command text={takesTokens ? T.signInDaemon : T.signInCommand} />
            <p>{takesTokens ? T.signInDaemonAgain : T.signInAgain}</p>
            {takesTokens && <TokenForm />}
        </main>
    );
}
