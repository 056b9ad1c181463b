"""Where our answers differ from kube-apiserver's on purpose, each with its reason; docs/deviations.md has what users see."""

# step and path of the answer (regular expressions), why
ANY = r".*"
TEXT = (r"body\.message", r"body\.details\.causes\[\d\]\.message")
REFUSED = r"body\..*|status|body"
DIFFERENCES = [
    # ---- texts ----
    (r"create of (no JSON|nothing)|merge no JSON|merge a list|patch by an object|list on from nonsense", TEXT, "what a parser found wrong, in its own words"),
    (r"create of another (kind|version)|apply of another kind|apply without a version|a custom object without kind", TEXT,
     "the reason after the same beginning; theirs names Go types"),
    (r"create with a bad manager|get in a form not there|list by a bad label key|patch of plain JSON|"
     r"change a pod's command|a namespace of a bad name", TEXT, "texts that changed between their versions; ours are those of the specification"),
    (r"(list|watch) .*bad (label )?selector|create with wrong types", TEXT, "texts of 1.20"),
    (r"(a custom object of a|merge a) wrong type.*", (r"body\.details\.causes\[0\]\.reason",), "the reason newer ones give"),
    (r"(delete )?a namespace.*", (r"body\.(rows\[0\]\.object\.)?metadata\.labels",), "the label that newer ones give"),
    (r"a priority.*", TEXT + (r"body\.details\.causes\[0\]\.field", r"body\.columnDefinitions", r"body\.rows\[0\]\.cells"), "as newer ones have it"),
    (r"a pod of more than its limit", TEXT, "texts of 1.20"),
    (r"a service.*", (r"body\.spec\.internalTrafficPolicy",), "a default of newer ones"),
    (r"merge a list|merge no JSON|apply of another kind", (REFUSED,), "400, as newer ones"),
    (r"a pod without containers", TEXT, "says what is required"),
    (r"put of another uid", TEXT, "without the names of their storage"),
    (r"list of a revision that is no number|watch from no number|a custom object with a revision", (REFUSED,), "400: theirs is an internal error, which it is not"),
    (r"put a custom one without a revision", (r"body\.details\.kind", r"body\.message"), "the kind, as in every other answer of 422"),
    (r"a (path|group) not known|get of a group not there|a queue in a namespace", (r"body.*|type",), "a Status instead of plain text, or of a list of paths"),
    (r"an immutable map.*|a pod mounts what it has not|a claim of a bad quantity|a secret of no base64|a lease of no seconds|events by a field not known",
     TEXT, "says more: the way out, the values that are known"),
    (r"a lease of (no seconds|negative transitions)", TEXT, "the bound of the field"),
    (r"a service without ports", TEXT, "says more: what needs none"),
    # ---- taken though they refuse it ----
    (r"a lease without fractions", (REFUSED,), "any fraction will do (section 13.7)"),
    (r"a claim without modes", (REFUSED,), "a directory can be mounted by anybody here"),
    # ---- details ----
    (r"create with wrong types|unknown fields (of a built-in kind )?strictly|merge another name|a custom object with a revision",
     (r"body\.details",), "causes are there too: which field"),
    (r"a claim of a bad quantity|a secret of no base64", (r"body\.details",), "causes are there too: which field"),
    (r"create of a media type unknown|patch a custom one strategically|a token not known", (r"body\.details",), "empty instead of absent"),
    (r"merge of unknown fields strictly", (r"body\.message", r"body\.details\.causes.*"), "without the whole object in the text"),
    (r"patch (with a test that fails|by an operation not known)", (r"body\.details.*", r"body\.message"), "says which operation, and why"),
    (r"patch( away)? what is missing", (REFUSED,), "RFC 6902: what is replaced or removed must be there"),
    (ANY, (r"body\.metadata\.continue",), "left out at the end of a list, as for built-in kinds"),
    # ---- advice ----
    (r"apply a flow.*", (r"warnings.*",), "advice of admission"),
    (r"create a custom one with a plain finalizer|a custom object of another version", (r"warnings.*",), "advice of theirs"),
    # ---- accounts ----
    (r"(?!(create (a config map|in YAML)|put|merge|merge away|merge nothing)$|apply (makes|again|after|in|on)|another|a conflict|two|what was|by force|update what|forget).*", (r".*managedFields.*",),
     "tasks are merged by name; theirs leaves out structs of built-in kinds, and adds what its admission made"),
    (r"create with server's metadata|a pod|list pods as a table|.* a pod.*|apply it by force, too|status of a pod", (r"body\.(rows\[0\]\.object\.)?metadata\.generation",),
     "built-in kinds have no generation"),
    (r"delete a pod not yet on a node", (r"body\.metadata\.deletion(TimestampS?|Timestamp|GracePeriodSeconds)",), "gone at once, without a mark"),
    (r"delete a namespace", (r"body\.metadata\.deletionGracePeriodSeconds",), "0 is said"),
    (r"take the finalizer away|take that away", (r"body\.metadata\.finalizers",), "before 1.33 the answer still shows it"),
    # ---- pods of a machine ----
    (ANY, (r"body\.spec\.(preemptionPolicy|priority|serviceAccount|tolerations|volumes|nodeSelector)",), "what admission plugins and controllers of a cluster add"),
    (ANY, (r"body\.status\.(qosClass|conditions)",), "our scheduler and node say at once what they see"),
    (r"list pods as a table", (r"body\.columnDefinitions", r"body\.rows\[0\]\.cells"), "two more columns with -o wide: what the pod used"),
    (r"a pod of canonical quantities", (r"body\.spec\.containers\[0\]\.(resources|imagePullPolicy).*",), "quantities stay as they were written"),
    (r"a (service|claim|policy|queue).*", (r"body\.(spec\.(ipFamilies|ipFamilyPolicy|resources.*|storageClassName)|status.*|metadata\.(generation|finalizers))",),
     "nobody gives addresses; a directory is there when a pod needs it; queues are open at once"),
    (r"a pod of canonical quantities", (r"body\.metadata\.generation",), "built-in kinds have no generation"),
    (r"a priority.*", (r"body\.metadata\.generation", r"body\.rows\[0\]\.object\.metadata\.generation"), "counted for every kind"),
    (r"(an )?events?.*|the event.*", (r"body\.(items\[0\]\.)?(eventTime|reporting(Component|Instance))",), "absent instead of empty"),
    (r"bind once more", (r"body\.details\.kind",), "of the pod"),
    # ---- the rest ----
    (r"list custom ones as a table", (r"body\.columnDefinitions", r"body\.rows\[\d\]\.cells"), "two more columns with -o wide: what flows have pinned"),
    (r"unknown and wrong strictly", (r"body\.details",), "causes are there too: which field"),
    (r"may I", (r"body\.metadata.*", r"body\.status.*"), "a review is no object: it has no metadata of its own"),
    (r"resources of .*|the flow group", (r"body\.resources\.[a-z/]+\.storageVersionHash",), "there is one storage version"),
    (r"resources of .*", (r"body\.resources\.[a-z]+/(steps|instantiate)",), "subresources of our own"),
]
