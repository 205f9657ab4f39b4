# Read by `netbox shell`: makes the administrator and a token, which is printed on a line of its own.
from users.models import Token, User

admin, _ = User.objects.get_or_create(username="admin", defaults={"is_superuser": True, "is_active": True})
token = Token(user=admin, version=2, write_enabled=True)
token.save()
print(f"PEER_TOKEN nbt_{token.key}.{token.token}")
