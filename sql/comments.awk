# Adds COMMENT ON to the script of an extension, made of the comments in it: for each function of
# zbxhist_internal, the first sentence of those right above it; for each column of a table, the
# comment behind it or, if it has none, those right above it.  What has a COMMENT of its own keeps that.

function described(object, text)
{
	sub(/^ +/, "", text)
	if (text == "" || object in done)
		return
	done[object] = 1
	gsub(/'/, "''", text)
	added = added "COMMENT ON " object " IS '" text "';\n"
}

function first_sentence(text)
{
	if (match(text, /\.( |$)/))
		text = substr(text, 1, RSTART - 1)
	return text
}

{ print }

/^COMMENT ON (FUNCTION|PROCEDURE|COLUMN) / {
	done[$3 " " $4] = 1
}

/^CREATE TABLE zbxhist\./ {
	table = $3
}

/^\);/ {
	table = ""
}

/^ *--/ {
	text = $0
	sub(/^ *-- */, "", text)
	above = above " " text
	next
}

/^CREATE (FUNCTION|PROCEDURE) zbxhist_internal\./ {
	name = $3
	sub(/\(.*/, "", name)
	described($2 " " name, first_sentence(substr(above, 2)))
}

table != "" && /^    [a-z_]+ / {
	text = ""
	if (match($0, /  *-- /))
		text = substr($0, RSTART + RLENGTH)
	described("COLUMN " table "." $1, text != "" ? text : substr(above, 2))
}

{ above = "" }

END {
	printf "\n%s", added
}
